"""files.py - files that only their owner may write: read them, replace them such that a crash leaves the old one or the new one, whole."""

import os
import stat

from custody.failure import CANNOT_CREATE, CONFIG, DATA, NO_INPUT, REFUSED, Failure

LARGEST = 1024 * 1024


def owner_of(path):
    """Whose files these are: the owner of the folder, which is oneself, or who runs the server if root calls this."""
    folder = os.path.dirname(path)
    try:
        st = os.stat(folder)
    except OSError as e:
        raise Failure(CONFIG, f'folder "{folder}": {e.strerror}') from None
    if os.geteuid() not in (0, st.st_uid):
        raise Failure(REFUSED, f'folder "{folder}" does not belong to the user that calls this')
    if st.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Failure(REFUSED, f'others may write to folder "{folder}": run chmod go-w {folder}')
    return st.st_uid, st.st_gid


def require_safe(st, path, owner, secret=False):
    """Envelopes and settings may be read by others, but not written; what is secret neither."""
    others = stat.S_IRWXG | stat.S_IRWXO if secret else stat.S_IWGRP | stat.S_IWOTH
    if not stat.S_ISREG(st.st_mode):
        raise Failure(REFUSED, f'"{path}" is not a regular file')
    if st.st_uid not in (0, owner):
        raise Failure(REFUSED, f'"{path}" belongs to another user')
    if st.st_mode & others:
        raise Failure(REFUSED, f'others may {"read or write" if secret else "write"} "{path}": run chmod {"600" if secret else "go-w"} {path}')


def read(path, owner, missing=NO_INPUT, secret=False):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as e:
        raise Failure(missing if e.errno == 2 else REFUSED, f'could not open "{path}": {e.strerror}') from None
    with os.fdopen(fd, 'rb') as file:
        require_safe(os.fstat(fd), path, owner, secret)
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Failure(DATA, f'"{path}" is too large')
    return content


def sync_folder(path):
    fd = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def rename(old, new):
    os.rename(old, new)
    sync_folder(new)


def write(path, content, owner):
    """Under another name, and flushed, before it takes the place of what is there."""
    temporary = path + '.tmp'
    try:
        if os.path.lexists(temporary):
            os.unlink(temporary)    # of a call that was killed; only one runs at a time
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, 'wb') as file:
            if os.geteuid() != owner[0]:
                os.fchown(fd, *owner)
            file.write(content)
            file.flush()
            os.fsync(fd)
        rename(temporary, path)
    except OSError as e:
        raise Failure(CANNOT_CREATE, f'could not write "{path}": {e.strerror}') from None
