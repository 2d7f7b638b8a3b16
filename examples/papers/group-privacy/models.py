"""Small models of the paper's two data sets, with gradients written out. Python's standard library only."""
import math


class Line:
    """y = w.x without an intercept, half the squared error."""

    parameters = 2

    @staticmethod
    def first(draws):
        return [draws.gauss(0.0, 1.0) for _ in range(2)]

    @staticmethod
    def predict(model, x):
        return model[0] * x[0] + model[1] * x[1]

    @staticmethod
    def gradient(model, records):
        total = [0.0, 0.0]
        for x, y in records:
            slope = model[0] * x[0] + model[1] * x[1] - y
            total[0] += slope * x[0]
            total[1] += slope * x[1]
        return [value / len(records) for value in total]


class Network:
    """Three numbers, two hidden units (tanh), one output: eleven parameters, as in the paper."""

    parameters = 11

    @staticmethod
    def first(draws):
        return [draws.uniform(-0.6, 0.6) for _ in range(11)]

    @staticmethod
    def predict(model, x):
        return Network.hidden(model, x)[2]

    @staticmethod
    def hidden(model, x):
        one = math.tanh(model[0] * x[0] + model[1] * x[1] + model[2] * x[2] + model[3])
        two = math.tanh(model[4] * x[0] + model[5] * x[1] + model[6] * x[2] + model[7])
        return one, two, model[8] * one + model[9] * two + model[10]

    @staticmethod
    def gradient(model, records):
        total = [0.0] * 11
        for x, y in records:
            one, two, output = Network.hidden(model, x)
            slope = output - y
            first = slope * model[8] * (1 - one * one)
            second = slope * model[9] * (1 - two * two)
            for at in range(3):
                total[at] += first * x[at]
                total[4 + at] += second * x[at]
            total[3] += first
            total[7] += second
            total[8] += slope * one
            total[9] += slope * two
            total[10] += slope
        return [value / len(records) for value in total]


def loss(kind, model, records):
    """Mean squared error."""
    return sum((kind.predict(model, x) - y) ** 2 for x, y in records) / len(records)


def best(kind, models, records):
    """The model with the least loss on these records, the first of equals."""
    return min(range(len(models)), key=lambda at: loss(kind, models[at], records))


def solve(matrix, right):
    """The solution of a small symmetric system by elimination."""
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(len(rows)):
            if row != at:
                factor = rows[row][at] / rows[at][at]
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[at])]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def least_squares(records):
    """The linear model of these records, the intercept last."""
    size = len(records[0][0]) + 1
    matrix, right = [[1e-9 * (i == j) for j in range(size)] for i in range(size)], [0.0] * size
    for x, y in records:
        row = [*x, 1.0]
        for i in range(size):
            right[i] += row[i] * y
            for j in range(size):
                matrix[i][j] += row[i] * row[j]
    return solve(matrix, right)
