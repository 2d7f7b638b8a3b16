# The same trainer in R: logistic regression on a CSV whose last column is 0 or 1. Needs the package jsonlite.
#
#   murmur trainer check 'Rscript trainer.R points.csv'
library(jsonlite)

source <- file("/dev/stdin", "rb", raw = TRUE)
sink_frames <- file("/dev/stdout", "wb", raw = TRUE)

read_frame <- function() {
  size <- readBin(source, "integer", 1, size = 4, endian = "little")
  if (length(size) == 0) quit(status = 0)
  header <- fromJSON(rawToChar(readBin(source, "raw", size)))
  list(
    header = header,
    records = readBin(source, "integer", header$u32, size = 4, endian = "little"),
    params = readBin(source, "numeric", header$f32, size = 4, endian = "little")
  )
}

write_frame <- function(header, reals = numeric(0)) {
  header$f32 <- length(reals)
  text <- charToRaw(toJSON(header, auto_unbox = TRUE))
  writeBin(length(text), sink_frames, size = 4, endian = "little")
  writeBin(text, sink_frames)
  writeBin(as.numeric(reals), sink_frames, size = 4, endian = "little")
  flush(sink_frames)
}

data <- as.matrix(read.csv(commandArgs(trailingOnly = TRUE)[1]))
width <- ncol(data) - 1
x <- cbind(data[, seq_len(width), drop = FALSE], 1)
y <- data[, width + 1]

# One row per record: the gradient of its own loss.
rows <- function(which, params) {
  error <- 1 / (1 + exp(-(x[which, , drop = FALSE] %*% params))) - y[which]
  as.vector(error) * x[which, , drop = FALSE]
}

write_frame(list(
  say = "hello", protocol = 1, answers = list("update", "rows"), records = nrow(x),
  tensors = list(list(name = "weight", shape = list(width)), list(name = "bias", shape = list(1)))
))
repeat {
  job <- read_frame()
  if (job$header$ask == "rows") {
    # Row after row: R keeps matrices by columns.
    write_frame(list(say = "rows"), as.vector(t(rows(job$records + 1, job$params))))
  } else if (job$header$ask == "update") {
    params <- job$params
    for (step in 1:20) params <- params - colMeans(rows(seq_len(nrow(x)), params))
    write_frame(list(say = "update"), params - job$params)
  } else {
    write_frame(list(say = "error", message = "only rows and updates"))
  }
}
