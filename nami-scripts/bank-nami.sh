#!/bin/sh
# A wrapper for sites that want to do something of their own around a call to the bank: write a
# log line, set the machine's name, try a second bank. Install it under the names of the events
# (bank.quote.sh, bank.charge.sh, ...) in place of links to the binary, and change what you need.
#
# What a wrapper must keep to:
# - standard output belongs to the scheduler: nothing but what the binary prints;
# - standard error is shown to users: one line at most;
# - the exit code is the answer: hand it on unchanged;
# - the whole call ends within 8 seconds: the binary takes care of its own part;
# - no value of the document ever goes through the shell: it is passed on unread.
set -u

binary=${BANK_NAMI_BINARY:-/usr/libexec/bank/nami/nami-scripts}

# bank.charge.sh, bank.charge.pl and bank.charge all mean charge.
name=${0##*/}
name=${name%.sh}
name=${name%.pl}
event=${name#bank.}

# Standard input goes to the binary as it stands, and so does every argument.
"$binary" --event "$event" "$@"
code=$?

# An example of something of one's own: a log line for everything but success.
if [ "$code" -ne 0 ] && [ -n "${BANK_NAMI_LOG:-}" ]; then
    printf '%s %s exit %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$event" "$code" >>"$BANK_NAMI_LOG" 2>/dev/null
fi
exit "$code"
