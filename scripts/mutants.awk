# Writes mutants of a C file: one line each, LINE TAB what it becomes. Comments and declarations are
# left alone. For scripts/mutants.sh.
#
#   awk -f scripts/mutants.awk kernel/confucius.h

function mutant(text) { print NR "\t" text }

# Every place where `from` stands becomes `to`.
function swap(from, to,    at, start) {
    start = 1
    while ((at = index(substr($0, start), from)) > 0) {
        at += start - 1
        mutant(substr($0, 1, at - 1) to substr($0, at + length(from)))
        start = at + length(from)
    }
}

/^\/\*/ || /^\t+\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }
# What is left at the top is a preprocessor line or begins a function.
/^#define CF_[A-Z_]+[ \t]+[0-9]+([ \t]|$)/ {
    match($0, /[ \t][0-9]+/)
    mutant(substr($0, 1, RSTART) (substr($0, RSTART + 1, RLENGTH - 1) + 1) substr($0, RSTART + RLENGTH))
}
!/^\t/ { next }
{
    swap(" < ", " <= "); swap(" <= ", " < "); swap(" > ", " >= "); swap(" >= ", " > ")
    swap(" == ", " != "); swap(" != ", " == "); swap(" && ", " || "); swap(" || ", " && ")
    swap(" + ", " - "); swap(" - ", " + "); swap(" * ", " + "); swap(" / ", " * "); swap(" % ", " / ")
    swap("++", "--"); swap("--", "++"); swap(" += ", " -= "); swap(" -= ", " += ")
    swap(" << ", " >> "); swap(" >> ", " << "); swap(" & ", " | "); swap(" | ", " & ")
    swap("true", "false"); swap("false", "true"); swap("min(", "max("); swap("max(", "min(")
    swap("min_t(", "max_t("); swap("max_t(", "min_t(")
    swap(" - 1", ""); swap(" + 1", ""); swap("(!", "("); swap("break;", ";"); swap("continue;", ";")
}
# A statement is left out: an assignment, or a call.
/^\t+(--)?[*a-z][][a-z_0-9>.*()\/ +%-]* (\||&|\+|-)?= .*;$/ || /^\t+[a-z_*][][a-z_0-9>.-]*(\+\+|--);$/ ||
/^\t+[a-z_]+\(.*\);$/ {
    if (!/^\t+(const |struct |u8 |u16 |u32 |u64 |s64 |bool |return)/) mutant("\t;")
}
# A condition holds always, or never.
match($0, /^\t+(\} else )?if \(.*\)( \{)?$/) {
    open = index($0, "if (")
    tail = $0 ~ /\{$/ ? " {" : ""
    mutant(substr($0, 1, open - 1) "if (1)" tail)
    mutant(substr($0, 1, open - 1) "if (0)" tail)
}
