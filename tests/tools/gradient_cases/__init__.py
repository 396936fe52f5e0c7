"""The functions of tests/gradients, written in PyTorch: one module for each topic."""
