export const NO_PYTHON = 'python3 is not installed in this sandbox, so scripts cannot run.';

/** What of the session's environment a script may see; a name that sounds like a secret is left out before. */
const SAFE =
  'PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_*|TERM|TZ|TMPDIR|TMP|TEMP|XDG_*|PYTHON*|VIRTUAL_ENV*|CONDA*|NODE_PATH|' +
  'CAPSTAN_CALL|CAPSTAN_SCRIPT';
const SECRET = '*KEY*|*TOKEN*|*SECRET*|*PASSWORD*|*PASSWD*|*CREDENTIAL*|*AUTH*|*DSN*|*WEBHOOK*';

/** Runs `script.py` of the folder `$CAPSTAN_SCRIPT`. Modules of the working directory can be imported as well. */
export const SCRIPT_COMMAND = `
command -v python3 >/dev/null 2>&1 || { echo '${NO_PYTHON}' >&2; exit 127; }
__kept=()
for __name in $(compgen -e); do
  case "\${__name^^}" in
    ${SECRET}) ;;
    ${SAFE}) __kept+=("$__name=\${!__name}") ;;
  esac
done
__kept+=("PYTHONPATH=$CAPSTAN_SCRIPT:$PWD\${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1)
exec env -i "\${__kept[@]}" python3 -u "$CAPSTAN_SCRIPT/script.py"
`;
