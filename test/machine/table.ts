/** Plain columns for reports: left-aligned text, right-aligned numbers, nothing cut. */

export function table(header: string[], rows: (string | number)[][]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => String(row[column] ?? '').length)))
  const line = (cells: (string | number)[]): string =>
    cells
      .map((cell, column) => (typeof cell === 'number' ? String(cell).padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(header), ...rows.map(line)].join('\n')
}
