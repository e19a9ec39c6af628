/** `os.time` and `os.date`, in UTC, from the caller's clock. The rest of `os` does not exist. */
import { LuaTable } from '../table.ts'
import { numberOf } from '../values.ts'
import { type Arguments, library } from './arguments.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']

const padded = (value: number, width = 2): string => String(value).padStart(width, '0')

const dayOfYear = (date: Date): number => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1

const dayName = (date: Date): string => DAYS[date.getUTCDay()] ?? ''
const monthName = (date: Date): string => MONTHS[date.getUTCMonth()] ?? ''
const halfDayHour = (date: Date): number => date.getUTCHours() % 12 || 12

const FORMATS: Readonly<Record<string, (date: Date) => string>> = {
  a: (date) => dayName(date).slice(0, 3),
  A: dayName,
  b: (date) => monthName(date).slice(0, 3),
  B: monthName,
  c: (date) => formatDate('%a %b %d %H:%M:%S %Y', date),
  d: (date) => padded(date.getUTCDate()),
  D: (date) => formatDate('%m/%d/%y', date),
  F: (date) => formatDate('%Y-%m-%d', date),
  H: (date) => padded(date.getUTCHours()),
  I: (date) => padded(halfDayHour(date)),
  j: (date) => padded(dayOfYear(date), 3),
  m: (date) => padded(date.getUTCMonth() + 1),
  M: (date) => padded(date.getUTCMinutes()),
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  S: (date) => padded(date.getUTCSeconds()),
  T: (date) => formatDate('%H:%M:%S', date),
  w: (date) => String(date.getUTCDay()),
  x: (date) => formatDate('%m/%d/%y', date),
  X: (date) => formatDate('%H:%M:%S', date),
  y: (date) => padded(date.getUTCFullYear() % 100),
  Y: (date) => String(date.getUTCFullYear()),
  z: () => '+0000',
  Z: () => 'UTC',
}

/** `%` and a letter; unknown ones are left unchanged. */
function formatDate(format: string, date: Date): string {
  return format.replace(/%(.)/gs, (whole, letter: string) =>
    letter === '%' ? '%' : ((Object.hasOwn(FORMATS, letter) ? FORMATS[letter] : undefined)?.(date) ?? whole),
  )
}

function dateTable(args: Arguments, date: Date): LuaTable {
  args.run.makeTable()
  const table = new LuaTable()
  const fields = {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    min: date.getUTCMinutes(),
    sec: date.getUTCSeconds(),
    wday: date.getUTCDay() + 1,
    yday: dayOfYear(date),
    isdst: false,
  }
  for (const [key, value] of Object.entries(fields)) table.set(args.run, key, value)
  return table
}

function date(args: Arguments): string | LuaTable {
  const given = args.text(1, '%c')
  if (given.length > 1000) args.wrong(1, 'format too long')
  const format = given.replace(/^!/, '')
  const moment = new Date(args.number(2, Math.floor(args.run.now() / 1000)) * 1000)
  if (Number.isNaN(moment.getTime())) return args.wrong(2, 'time out of range')
  if (format.startsWith('*t')) return dateTable(args, moment)
  const text = formatDate(format, moment)
  args.run.make(text.length)
  return text
}

function time(args: Arguments): number {
  if (args.any(1) === undefined) return Math.floor(args.run.now() / 1000)
  const table = args.table(1)
  const read = (key: string, otherwise?: number): number => {
    const value = numberOf(table.get(key)) ?? otherwise
    return value === undefined ? args.run.fail(args.site, `field '${key}' missing in date table`) : value
  }
  const ms = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour', 12), read('min', 0), read('sec', 0))
  return Number.isNaN(ms) ? args.wrong(1, 'time out of range') : Math.floor(ms / 1000)
}

export const osLibrary = library({ date, time })
