"""proxy.py PORT UPSTREAM MODE-FILE - what a network does to a service: the file says 'pass', 'slow' (accepts and never answers) or
'garbage' (answers with HTTP that means nothing, whatever was asked)."""

import socket
import sys
import threading
import time

port, upstream, mode_file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
NONSENSE = b'{"data": {"plaintext": "bm90aGluZw==", "ciphertext": "x"}, "plaintext": "bm90aGluZw==", "value": "bm90aGluZw", "Plaintext": "bm90aGluZw==", ' \
    b'"access_token": "x", "CiphertextBlob": "bm90"}'


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    with open(mode_file, encoding='ascii') as file:
        mode = file.read().strip()
    if mode == 'slow':
        time.sleep(60)
    elif mode == 'garbage':
        client.recv(65536)
        client.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' % (len(NONSENSE), NONSENSE))
    else:
        with socket.create_connection(('127.0.0.1', upstream)) as server:
            threading.Thread(target=copy, args=(client, server), daemon=True).start()
            copy(server, client)
    client.close()


with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', port))
    listener.listen(64)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
