"""Tests of bank_client. In the folder of the package: `PYTHONPATH=src python3 -m unittest discover -t . tests`."""
