"""What one partition does: plain functions of arrays, which know nothing of Spark."""
