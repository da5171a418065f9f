"""How noisy the policy gradient is -> artifacts/spider/variance.parquet."""

from seqcap.artifacts import VARIANCE, read_json, write_rows
from seqcap.errors import one_line_errors
from seqcap.variance import measure

if __name__ == "__main__":
    with one_line_errors():
        write_rows("artifacts/spider/variance.parquet", measure(read_json("configs/variance_spider.json")), VARIANCE)
