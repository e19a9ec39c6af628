/** Text from outside (commands, other controllers, users) as it may stand in a condition: one line, without control characters, bounded. */

const LONGEST = 512
/** Also what reorders text on a screen, and halves of characters. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu

export function shown(text: string, most = LONGEST): string {
  // Only a beginning is looked at: texts may be long.
  const line = text
    .slice(0, most * 4)
    .replaceAll(UNSHOWN, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}
