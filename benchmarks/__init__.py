"""How fast Condyle is beside Pinocchio, MuJoCo and OpenSim; see README.md here."""
