# The public names, and where each of them is; imported when it is first used.

from .nodes import request_user_help

__all__ = ["request_user_help"]
