/** `$(NAME)` in commands, arguments and values: replaced where the variable is known, left alone where not; `$$` is `$`. Pure. */
export type Lookup = (name: string) => string | undefined

export function expand(text: string, lookup: Lookup): string {
  return text.replace(/\$(\$|\(([^)]*)\))?/g, (whole: string, what: string | undefined, name: string | undefined) => {
    if (what === '$') return '$'
    if (name === undefined) return whole
    return lookup(name) ?? whole
  })
}
