"""How a kernel runs: its tasks (`parallel`), the threads that share them (`team`), calls that are played again (`calls`)."""
