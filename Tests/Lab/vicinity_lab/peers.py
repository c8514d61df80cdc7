class Peers:
    pass
