"""Assembly: configurations that satisfy constraints and come near to goals; equilibria."""
