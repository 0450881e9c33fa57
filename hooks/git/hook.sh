#!/bin/sh
# gitmem-hook @SUM@
# Written by `gitmem hooks install git`; `gitmem hooks remove git` takes it away again. A hook of
# yours that was here before stands beside it as NAME.before-gitmem, and runs first.

event=@EVENT@
python=@PYTHON@

case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
here=$(CDPATH='' cd -- "$here" && pwd -P) || exit 0
own=$here/$event.before-gitmem
result=0

# A hook of yours that calls this one in turn would go round in a circle.
[ "${GITMEM_INSIDE-}" != "$event in $here" ] || exit 0
if [ -x "$own" ] && [ -f "$own" ]; then
    GITMEM_INSIDE="$event in $here" "$own" "$@"
    result=$?
fi

if [ "$event" = pre-commit ]; then
    [ "$result" -eq 0 ] || exit "$result"
    # There is something to do only where a merge was cut off before it reached the files.
    common=$(git rev-parse --git-common-dir 2>/dev/null) || exit 0
    [ -e "$common/gitmem/worktree-at" ] || exit 0
fi

# Sets said and status. 0 is well, 4 stops the commit; anything else means that it could not run.
ask() {
    said=$("$@" 2>&1 </dev/null)
    status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ]
}

# $1 as one word that can be pasted into a shell.
word() {
    rest=$1 out=
    while case $rest in *\'*) ;; *) false ;; esac; do
        out="$out${rest%%\'*}'\\''"
        rest=${rest#*\'}
    done
    printf "'%s'" "$out$rest"
}

# Only a gitmem with an absolute path: nothing that lies in the store is run.
found=$(command -v gitmem) && case $found in /* | [A-Za-z]:*) ;; *) found= ;; esac

if { [ -x "$python" ] && ask "$python" -P -m gitmem hook "$event" "$@"; } ||
    { [ -n "$found" ] && ask "$found" hook "$event" "$@"; }; then
    [ -z "$said" ] || printf '%s\n' "$said" >&2
    [ "$event" != pre-commit ] || [ "$status" -eq 0 ] || exit 1
elif [ "$event" = pre-commit ]; then
    printf '%s\n' 'gitmem: a merge has not reached these files yet, and gitmem, which would' \
        'finish it, cannot be run. Nothing was committed, since the commit would undo the' \
        "merge. Mend gitmem, or commit in spite of it: git -C $(word "$PWD") commit --no-verify" >&2
    exit 1
else
    printf '%s\n' "gitmem: its $event hook could not run; see:" \
        "gitmem hooks status --store $(word "$PWD")" >&2
fi
exit "$result"
