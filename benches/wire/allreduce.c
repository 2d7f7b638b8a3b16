/* Seconds of MPI_Allreduce of FLOATS numbers, ROUNDS times; the median and nine tenths, one line of JSON from rank 0.
 *   mpicc -O2 -o allreduce allreduce.c && mpirun -n 8 --oversubscribe --mca btl tcp,self ./allreduce FLOATS ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, floats = count > 1 ? atoi(words[1]) : 650, rounds = count > 2 ? atoi(words[2]) : 100;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float *own = calloc(floats, sizeof *own), *sum = calloc(floats, sizeof *sum);
    double *seconds = malloc(rounds * sizeof *seconds);
    if (!own || !sum || !seconds) return 1;
    for (int i = 0; i < floats; i++) own[i] = rank + i % 7;
    /* A few that do not count: connections are made at the first. */
    for (int round = -5; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        MPI_Allreduce(own, sum, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (round >= 0) seconds[round] = MPI_Wtime() - began;
    }
    if (rank == 0) {
        qsort(seconds, rounds, sizeof *seconds, by_size);
        printf("{\"median\": %.9f, \"ninety\": %.9f}\n", seconds[rounds / 2], seconds[rounds * 9 / 10]);
    }
    MPI_Finalize();
    return 0;
}
