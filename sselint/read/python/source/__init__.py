"""From bytes to a small form of Python: guards before libcst sees a file, modules and what an import means."""
