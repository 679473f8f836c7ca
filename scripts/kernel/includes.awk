# awk -f includes.awk sch_mencius...: the files of kernel/ that these modules are made of.
function add(name,    line, file) {
    file = "kernel/" name
    if (name in seen || (getline line < file) < 0) return
    seen[name] = 1
    print file
    do {
        if (match(line, /^#include "[^"]+"/)) found[name, ++count[name]] = substr(line, 11, RLENGTH - 11)
    } while ((getline line < file) > 0)
    close(file)
    for (at[name] = 1; at[name] <= count[name]; at[name]++) add(found[name, at[name]])
}
BEGIN { for (i = 1; i < ARGC; i++) add(ARGV[i] ".c") }
