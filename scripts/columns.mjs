/** Rows as aligned columns: text to the left, figures to the right. */
export function columns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const isFigures = rows[0].map((_, column) => column > 0 && rows.slice(1).every((row) => /^[-–\d.]*$/.test(row[column])))
  const cell = (text, i) => (isFigures[i] ? text.padStart(widths[i]) : text.padEnd(widths[i]))
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n')
}
