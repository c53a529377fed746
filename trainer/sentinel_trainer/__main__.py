import sys

from sentinel_trainer.cli import main

sys.exit(main())
