#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds bad cause files to the generator and reads what it says.
#   tools/gen_causes_test.sh GEN_CAUSES
# shellcheck disable=SC2016  # the backticks belong to the messages
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
generator=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

good() { # the file that every case spoils in one place
  sed -e 's/TODO one line, lower case/a thing is odd/' \
    -e 's/TODO/something/' "$here/cause_template.md" |
    sed -e 's/LABEL/thing-odd/g'
}

expect() { # NAME SED_PROGRAM EXPECTED_TEXT…
  local name=$1 program=$2 output status=0
  shift 2
  rm -rf "$folder/causes"
  mkdir -p "$folder/causes/things"
  good | sed -e "$program" >"$folder/causes/things/thing-odd.md"
  output=$(cd "$folder" && "$generator" --check causes 2>&1) || status=$?
  for text in "$@"; do
    if [[ $output != *"$text"* ]]; then
      printf 'FAILED %s (exit %s)\n  expected: %s\n  got:\n%s\n' \
        "$name" "$status" "$text" "$output"
      failed=1
    fi
  done
  if [ $# -gt 0 ] && [ "$status" -ne 1 ]; then
    echo "FAILED $name: exit status $status, expected 1"
    failed=1
  elif [ $# -eq 0 ] && [ -n "$output$([ "$status" = 0 ] || echo x)" ]; then
    printf 'FAILED %s: exit %s\n%s\n' "$name" "$status" "$output"
    failed=1
  fi
}

expect "a good file" ''
expect "an unknown key" 's/^severity:/severty:/' \
  'things/thing-odd.md:4:1: error: unknown key `severty`, did you mean `severity`?' \
  $'  severty: error\n  ^' 'the key `severity` is missing'
expect "a missing key" '/^retry:/d' \
  'things/thing-odd.md:2:1: error: the key `retry` is missing'
expect "a key twice" 's/^since: .*/since: 0.1\nsince: 0.2/' \
  'error: the key `since` occurs twice'
expect "a bad enumerator" 's/^retry: .*/retry: sometimes/' \
  ':5:8: error: `sometimes` is none of: transient, needs-change' \
  $'  retry: sometimes\n         ^'
expect "another label than the file" 's/^label: .*/label: thing-even/' \
  ':2:8: error: the label is `thing-even`, the file is `thing-odd.md`'
expect "a title with a full stop" 's/^title: .*/title: odd./' \
  ':3:8: error: a title is lower case without a full stop'
expect "a pattern that does not compile" "s/^match:.*/match: ['abcd(']/" \
  'error: the pattern does not compile: missing ): abcd('
expect "a pattern without a literal" "s/^match:.*/match: ['a.b.*']/" \
  'error: the pattern has no literal of four characters or more'
expect "a pattern that misses its example" "s/^match:.*/match: ['elephant']/" \
  'error: no pattern of this file finds the example'
expect "a pattern that finds the near miss" "s/^match:.*/match: ['real|alike']/" \
  'error: a pattern of this file finds the near miss'
expect "nothing to be found by" '/^facts:/d; /^match:/d' \
  'error: neither `match` nor `facts`'
expect "a bad fact" 's/^facts: .*/facts: [Oops]/' \
  ':9:9: error: a fact is `thing.observed`'
expect "a rule with a text" \
  "s/^match:.*/&\nrules: [{ text: 'a real', with: [exit.killed] }]/" \
  'error: unknown key `text`'
expect "a rule that says" \
  "s/^match:.*/&\nrules: [{ says: ['a real'], with: [exit.killed] }]/" \
  'error: unknown key `says`'
expect "a pattern with a weight" \
  "s/^match:.*/match: [{ text: 'a real', weight: weak }]/" \
  'error: unknown key `weight`'
expect "text and says together" \
  "s/^match:.*/match: [{ text: 'a real', says: ['real'] }]/" \
  'error: one of `text`, `says` and `note`'
expect "neither text nor says" "s/^match:.*/match: [{ with: [exit.killed] }]/" \
  'error: neither `text` nor `says` nor `note`'
expect "a pattern of notes" "s/^match:.*/match: [{ note: 'a real' }]/"
expect "a pattern of notes that misses its example" \
  "s/^match:.*/match: [{ note: 'elephant' }]/" \
  'error: no pattern of this file finds the example'
expect "a condition that is no fact" \
  "s/^match:.*/match: [{ text: 'a real', with: [log.no such fact] }]/" \
  'error: a condition is `thing.observed`'
expect "a device that is no list" 's/^applies: .*/applies: tpu/' \
  'error: `applies` is a list with at least one entry'
expect "no device" 's/^applies: .*/applies: []/' \
  'error: `applies` is a list with at least one entry'
expect "a version that is none" 's/^since: .*/since: never/' \
  ':7:8: error: `since` is a version'
expect "a cause over itself" 's/^since: .*/&\nover: [thing-odd]/' \
  'error: a cause does not stand over itself'
expect "a field that no pattern finds" \
  "s/^match:.*/match: ['(?P<kind>a real)']/; s/\(expect=thing-odd\)$/\1 kind=a/" \
  'error: no pattern finds `kind=a` in the example'
expect "a field of the example" \
  "s/^match:.*/match: ['a real (?P<kind>line)']/; s/\(expect=thing-odd\)$/\1 kind=line/"
expect "a fix without safety" 's/, safety: asks//' \
  'error: the key `safety` is missing'
expect "fixes out of order" \
  's/^related: .*/  - { text: look first, safety: safe }\n&/' \
  'error: this fix changes less than the one before it'
expect "nothing that decides" '/^decide:/d' \
  'error: the key `decide` is missing'
expect "a related label without an observation" \
  's/^related: .*/related: [thing-ood]/' \
  'error: `related` has a line for each label'
expect "an unknown related label" \
  's/^related: .*/related: { thing-ood: it is odd }/' \
  'error: there is no cause `thing-ood`, did you mean `thing-odd`?'
expect "a missing section" '/^# Why/d' \
  'error: the section `# Why` is expected here' $'  # Confirm it yourself\n  ^'
expect "an empty section" '/^# Why/,/^$/{/^# Why/!d}' \
  'error: the section `Why` is empty'
expect "an example without expectation" 's/^```log expect=thing-odd/```log/' \
  'error: the example has no `expect=`'
expect "no near miss" '/^```log expect=none/,/^```$/d' 'error: no near miss'
expect "an example of an unknown cause" 's/expect=none/expect=nune/' \
  'error: there is no cause `nune`'
expect "a dead link" 's/^- https:.*/- [page](missing.md)/' \
  'error: the link leads nowhere'
expect "YAML that is none" 's/^title: .*/title: [/' 'error: not YAML:'
expect "no front matter" '1d' ':1:1: error: the front matter does not begin'

# Two files with one label.
rm -rf "$folder/causes"
mkdir -p "$folder/causes/things" "$folder/causes/others"
good >"$folder/causes/things/thing-odd.md"
good >"$folder/causes/others/thing-odd.md"
output=$(cd "$folder" && "$generator" --check causes 2>&1) && failed=1
[[ $output == *'error: the label is taken by'* ]] || {
  echo "FAILED a label twice: $output"
  failed=1
}

# What lies beside the causes.
beside() { # NAME FILE CONTENT EXPECTED_TEXT
  rm -rf "$folder/causes"
  mkdir -p "$folder/causes/things"
  good >"$folder/causes/things/thing-odd.md"
  printf '%b' "$3" >"$folder/causes/$2"
  local output status=0
  output=$(cd "$folder" && "$generator" --check causes 2>&1) || status=$?
  if [ "$status" -ne 1 ] || [[ $output != *"$4"* ]]; then
    printf 'FAILED %s (exit %s)\n  expected: %s\n  got:\n%s\n' \
      "$1" "$status" "$4" "$output"
    failed=1
  fi
}

beside "a text of a cause that is not there" texts.txt \
  '@# texts\n@ thing-ood\nit is odd\n' \
  'texts.txt:2:1: error: there is no cause `thing-ood`, did you mean `thing-odd`?'
beside "a text of none" texts.txt '@ none\nit is well\n' \
  'error: there is no cause `none`'
beside "a text of nothing" texts.txt '# texts\n@ thing-odd\nit is odd\n' \
  'texts.txt:1:1: error: a text begins with `@ LABEL`'
beside "a reason with a comma" facts.yaml \
  "harmless:\n  - { text: 'a remark', says: well, also here }\n" \
  'facts.yaml:2:37: error: unknown key `also here`'
beside "a fact with two patterns" facts.yaml \
  "facts:\n  - { name: thing.odd, text: 'it is odd', note: 'odd' }\n" \
  'facts.yaml:2:5: error: `text` or `note`, not both'
beside "facts that are no list" facts.yaml 'harmless: a remark\n' \
  'facts.yaml:1:11: error: expected a list of patterns'

# No catalog at all.
rm -rf "$folder/causes"
for state in missing empty; do
  [ "$state" = missing ] || mkdir "$folder/causes"
  status=0
  output=$(cd "$folder" && "$generator" --check causes 2>&1) || status=$?
  if [ "$status" -ne 1 ] || [ -z "$output" ]; then
    echo "FAILED a folder that is $state (exit $status): $output"
    failed=1
  fi
done

# The catalog itself.
"$generator" --check "$here/../causes" || failed=1
exit $failed
