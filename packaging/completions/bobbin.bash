# SPDX-License-Identifier: Apache-2.0
# bash completion of bobbin; installed as /usr/share/bash-completion/completions/bobbin.

# Where the command of `record` begins: the first word that is neither a flag nor a flag's value.
_bobbin_command_word() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --)
                echo $((i + 1))
                return
                ;;
            -F | --frequency | -d | --duration | -o | --output | -p | --pid | -t | --tid | -G | --cgroup | \
                -u | --unit | --container | --comm | --demangle | \
                --max-unwind-memory | --max-memory) ((i++)) ;;
            -* | =) ;;
            *)
                [[ ${COMP_WORDS[i - 1]} == = ]] && continue
                echo "$i"
                return
                ;;
        esac
    done
}

_bobbin_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_bobbin_words() {
    mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

_bobbin_record() {
    local current=$1 previous=$2 start
    start=$(_bobbin_command_word)
    if [[ -n $start ]]; then
        if ((COMP_CWORD == start)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        elif declare -F _command_offset >/dev/null; then
            _command_offset "$start"
        else
            _bobbin_files "$current"
        fi
        return
    fi
    case $previous in
        -F | --frequency) _bobbin_words "$current" "99 499 999 max" ;;
        -d | --duration) _bobbin_words "$current" "10s 30s 1m 5m" ;;
        -o | --output) _bobbin_files "$current" ;;
        -p | --pid) _bobbin_words "$current" "$(printf '%s\n' /proc/[0-9]* | sed 's,/proc/,,')" ;;
        -G | --cgroup) _bobbin_files "${current:-/sys/fs/cgroup/}" ;;
        --demangle) _bobbin_words "$current" "none simplified full" ;;
        --max-unwind-memory | --max-memory) _bobbin_words "$current" "64M 256M 512M 1G" ;;
        -t | --tid | -u | --unit | --container | --comm) ;;
        *)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "-F --frequency -d --duration -o --output -a --all -p --pid -t --tid
                    -G --cgroup -u --unit --container --comm -U --user-only -K --kernel-only
                    --demangle --debuginfod --max-unwind-memory --max-memory -q --quiet
                    --json -h --help --"
            else
                mapfile -t COMPREPLY < <(compgen -c -- "$current")
            fi
            ;;
    esac
}

_bobbin_top() {
    local current=$1 previous=$2
    case $previous in
        -F | --frequency) _bobbin_words "$current" "99 499 999 max" ;;
        --demangle) _bobbin_words "$current" "none simplified full" ;;
        --interval) _bobbin_words "$current" "500ms 1s 2s 5s" ;;
        -p | --pid) _bobbin_words "$current" "$(printf '%s\n' /proc/[0-9]* | sed 's,/proc/,,')" ;;
        -G | --cgroup) _bobbin_files "${current:-/sys/fs/cgroup/}" ;;
        --max-unwind-memory | --max-memory) _bobbin_words "$current" "64M 256M 512M 1G" ;;
        -t | --tid | -u | --unit | --container | --comm) ;;
        *)
            _bobbin_words "$current" "-F --frequency --interval -a --all -p --pid -t --tid -G --cgroup -u --unit
                --container --comm -U --user-only -K --kernel-only --demangle --max-unwind-memory --max-memory
                -h --help"
            ;;
    esac
}

_bobbin_report() {
    local current=$1 previous=$2
    case $previous in
        --by) _bobbin_words "$current" "function line file module process thread unit cpu container label:" ;;
        --top) _bobbin_words "$current" "10 30 100 0" ;;
        --sort) _bobbin_words "$current" "self total" ;;
        --focus | --ignore | --hide | --show-from | --peek | --sample-type) ;;
        *)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "--by --top --sort --focus --ignore --hide --show-from --peek --tree
                    --sample-type --json --md -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
    esac
}

_bobbin_diff() {
    local current=$1 previous=$2
    case $previous in
        --fail-above | --min-share) _bobbin_words "$current" "0.1% 1% 5% 10%" ;;
        --on) _bobbin_words "$current" "self total" ;;
        --normalize) _bobbin_words "$current" "share absolute" ;;
        --top) _bobbin_words "$current" "10 30 100 0" ;;
        -o | --output) _bobbin_files "$current" ;;
        *)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "-o --output --fail-above --min-share --on --normalize --top --json --md
                    -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
    esac
}

_bobbin_query() {
    local current=$1 previous=$2
    case $previous in
        --since | --until) _bobbin_words "$current" "-10m -1h -1d -7d now" ;;
        --by) _bobbin_words "$current" "function line file module process thread unit cpu container label:" ;;
        --top) _bobbin_words "$current" "10 30 100 0" ;;
        --diff-with) _bobbin_words "$current" "-25h..-24h" ;;
        -o | --output | --config | --store) _bobbin_files "$current" ;;
        -u | --unit | --where) ;;
        *)
            _bobbin_words "$current" "--since --until -u --unit --where -o --output --diff-with --by --top --list
                --json --config --store -h --help"
            ;;
    esac
}

_bobbin_ctl() {
    local current=$1 previous=$2
    case $previous in
        --last) _bobbin_words "$current" "1m 10m 1h" ;;
        -F | --frequency) _bobbin_words "$current" "99 199 499" ;;
        -d | --duration) _bobbin_words "$current" "30s 60s 5m" ;;
        -o | --output | --config) _bobbin_files "$current" ;;
        ctl) _bobbin_words "$current" "status snapshot boost pause resume reload
            --last -o --output -F --frequency -d --duration --json --config -h --help" ;;
        *) _bobbin_words "$current" "--last -o --output -F --frequency -d --duration --json --config -h --help" ;;
    esac
}

_bobbin_push() {
    local current=$1 previous=$2
    case $previous in
        --to) _bobbin_words "$current" "pyroscope+http:// pyroscope+push+http:// parca+http:// otlp+http:// s3+https:// s3://" ;;
        --bearer-file | --credentials-file) _bobbin_files "$current" ;;
        --label | --region) ;;
        *)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "--to --label --bearer-file --region --credentials-file -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
    esac
}

_bobbin() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _bobbin_words "$current" \
            "record top report diff view convert explain daemon query ctl push doctor object-info show-unwind help -h --help -V --version"
        return
    fi
    case ${COMP_WORDS[1]} in
        record) _bobbin_record "$current" "$previous" ;;
        top) _bobbin_top "$current" "$previous" ;;
        report) _bobbin_report "$current" "$previous" ;;
        diff) _bobbin_diff "$current" "$previous" ;;
        view)
            if [[ $previous == --port || $previous == --address ]]; then
                :
            elif [[ $current == -* ]]; then
                _bobbin_words "$current" "--port --address --no-open -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
        convert)
            if [[ $previous == --sample-type ]]; then
                :
            elif [[ $current == -* ]]; then
                _bobbin_words "$current" "-o --output --sample-type -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
        explain)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "--json -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
        query) _bobbin_query "$current" "$previous" ;;
        daemon)
            if [[ $previous == --config ]]; then
                _bobbin_files "$current"
            else
                _bobbin_words "$current" "--config --check-config -h --help"
            fi
            ;;
        ctl) _bobbin_ctl "$current" "$previous" ;;
        push) _bobbin_push "$current" "$previous" ;;
        doctor) _bobbin_words "$current" "--json -h --help" ;;
        object-info)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "--json -h --help"
            else
                _bobbin_files "$current"
            fi
            ;;
        show-unwind)
            if [[ $current == -* ]]; then
                _bobbin_words "$current" "--pc -h --help"
            elif [[ $previous != --pc ]]; then
                _bobbin_files "$current"
            fi
            ;;
        help) _bobbin_words "$current" "record top report diff view convert explain daemon query ctl push doctor object-info show-unwind" ;;
    esac
}

complete -F _bobbin bobbin
