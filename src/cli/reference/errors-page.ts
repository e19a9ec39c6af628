/** Error codes, from their catalogue. */
import { ERROR_CATALOGUE } from '../../base/errors/catalogue.ts'
import { code, type Page, page, table } from './markdown.ts'

export function errorsPage(): Page {
  const intro =
    'Errors that Sluice itself raises carry a code that does not change; the message beside it says which file, port or address is meant. Failures of API requests are Kubernetes Status objects with its reasons instead.'
  const rows = Object.entries(ERROR_CATALOGUE).map(([name, { meaning, advice }]) => [code(name), meaning, advice])
  return page('errors', { title: 'Error codes', from: 'src/base/errors/catalogue.ts', intro }, [
    table(['code', 'what happened', 'what to do'], rows),
  ])
}
