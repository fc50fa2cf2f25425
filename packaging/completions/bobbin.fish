# SPDX-License-Identifier: Apache-2.0
# fish completion of bobbin; installed as /usr/share/fish/vendor_completions.d/bobbin.fish.

set -l verbs record doctor object-info show-unwind help

complete -c bobbin -f
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -s h -l help -d 'show how bobbin is used'
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -s V -l version -d 'show the version'
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -a record -d 'profile until Ctrl-C or a command\'s end'
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -a doctor -d 'what this kernel and these rights allow'
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -a object-info -d 'what bobbin knows of one file'
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -a show-unwind -d 'the unwind rules of one file'
complete -c bobbin -n "not __fish_seen_subcommand_from $verbs" -a help -d 'how a verb is used'

complete -c bobbin -n '__fish_seen_subcommand_from record' -s F -l frequency -x -a '99 499 999 max' -d 'samples a second on each CPU'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s d -l duration -x -a '10s 30s 1m 5m' -d 'stop after this time'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s o -l output -r -F -d 'write this file'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s a -l all -d 'the whole machine, also while a command runs'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s p -l pid -x -a '(__fish_complete_pids)' -d 'these processes and their children'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s t -l tid -x -d 'these threads'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s G -l cgroup -r -F -d 'this cgroup and all below'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s u -l unit -x -d 'this systemd unit'
complete -c bobbin -n '__fish_seen_subcommand_from record' -l container -x -d 'containers whose id or machine name begins so'
complete -c bobbin -n '__fish_seen_subcommand_from record' -l comm -x -d 'threads of this name'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s U -l user-only -d 'only user-mode frames'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s K -l kernel-only -d 'only kernel-mode frames'
complete -c bobbin -n '__fish_seen_subcommand_from record' -l max-unwind-memory -x -a '64M 256M 1G' -d 'memory of unwind tables in the kernel'
complete -c bobbin -n '__fish_seen_subcommand_from record' -l max-memory -x -a '256M 512M 1G' -d 'memory of bobbin itself'
complete -c bobbin -n '__fish_seen_subcommand_from record' -s q -l quiet -d 'errors only'
complete -c bobbin -n '__fish_seen_subcommand_from record' -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c bobbin -n '__fish_seen_subcommand_from doctor object-info' -l json -d 'for programs'
complete -c bobbin -n '__fish_seen_subcommand_from object-info show-unwind' -F
complete -c bobbin -n '__fish_seen_subcommand_from show-unwind' -l pc -x -d 'only the row that covers this address'
complete -c bobbin -n "__fish_seen_subcommand_from record doctor object-info show-unwind" -s h -l help -d 'show the options'
complete -c bobbin -n '__fish_seen_subcommand_from help' -a 'record doctor object-info show-unwind'
