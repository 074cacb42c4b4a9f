"""How a policy leaves the house: as a graph, and as a bundle that other programs play."""
