"""placeholder"""
def fetch(key): return None
def store(key, code, facts): pass
