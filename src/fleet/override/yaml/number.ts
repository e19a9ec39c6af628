/** Numbers as they come out of YAML that went through JSON in Go: integers exactly, others in the shortest form of `%g`. */

const isWhole64 = (value: number): boolean => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64

export function printNumber(value: number | bigint): string {
  return typeof value === 'bigint' || isWhole64(value) ? String(value === 0 ? 0 : value) : shortest(value)
}

/** With an exponent from one million up, and below one ten-thousandth. */
function shortest(value: number): string {
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
