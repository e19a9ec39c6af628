/** The tokens of a label selector, as k8s.io/apimachinery's lexer splits them. */
type TokenKind = 'end' | 'identifier' | 'error' | ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '('

export interface LabelToken {
  kind: TokenKind
  text: string
}

const SPECIAL = '=!(),><'
const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map(
  ([')', ',', '!', '==', '=', '>', 'in', '<', '!=', 'notin', '('] as const).map((word) => [word, word]),
)

/** Ends with an `end` token. A NUL ends the text, as it does for the original. */
export function scanLabelSelector(text: string): LabelToken[] {
  const tokens: LabelToken[] = []
  let position = 0
  for (;;) {
    while (position < text.length && ' \t\r\n'.includes(text.charAt(position))) position++
    const start = text.charAt(position)
    if (start === '' || start === '\0') {
      tokens.push({ kind: 'end', text: '' })
      return tokens
    }
    const token = SPECIAL.includes(start) ? special(text, position) : word(text, position)
    tokens.push(token.token)
    position = token.next
  }
}

function word(text: string, from: number): { token: LabelToken; next: number } {
  let end = from
  while (end < text.length && !`${SPECIAL} \t\r\n\0`.includes(text.charAt(end))) end++
  const literal = text.slice(from, end)
  return { token: { kind: KEYWORDS.get(literal) ?? 'identifier', text: literal }, next: end }
}

/** The longest run of special characters that is still an operator. */
function special(text: string, from: number): { token: LabelToken; next: number } {
  let best: LabelToken | undefined
  let end = from
  while (end < text.length && SPECIAL.includes(text.charAt(end))) {
    const literal = text.slice(from, end + 1)
    const kind = KEYWORDS.get(literal)
    if (kind === undefined && best !== undefined) break
    if (kind !== undefined) best = { kind, text: literal }
    end++
  }
  return { token: best ?? { kind: 'error', text: `error expected: keyword found '${text.slice(from, end)}'` }, next: end }
}
