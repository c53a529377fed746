"""What a command fails with: a code that programs read, and a sentence for people."""

# The exit code of each: 2 the plan, 3 the data, 4 the model or the adapter, 5 the training, 6 the disk, 7 the lease.
EXITS = {
    "PLAN_INVALID": 2,
    "DATA_MISSING": 3,
    "DATA_EMPTY": 3,
    "DATA_TOO_LARGE": 3,
    "ROW_INVALID": 3,
    "ROW_TOO_LONG": 3,
    "ROW_HELD_OUT": 3,
    "ROWS_CONTRADICT": 3,
    "SECRET_IN_ROW": 3,
    "BASE_MISSING": 4,
    "BASE_UNSUPPORTED": 4,
    "BASE_DIFFERS": 4,
    "TEMPLATE_UNFIT": 4,
    "ADAPTER_MISSING": 4,
    "ADAPTER_UNSUPPORTED": 4,
    "QUANTIZATION_UNAVAILABLE": 4,
    "LOSS_NOT_FINITE": 5,
    "RESUME_DIFFERS": 5,
    "NO_SPACE": 6,
    "OUT_EXISTS": 6,
    "OUT_TAKEN": 7,
    "LEASE_LOST": 7,
    "CANCELLED": 143,
}


class TrainerFailure(Exception):
    """`facts` are fields of the last line beside `code` and `message`, such as `row` and `file`."""

    def __init__(self, code, message, **facts):
        super().__init__(message)
        self.code, self.message, self.facts = code, message, facts

    @property
    def exit(self):
        return EXITS[self.code]
