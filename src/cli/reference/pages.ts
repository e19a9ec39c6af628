/** The pages of docs/reference that are about the program rather than its kinds; `scripts/generate.mjs` writes them. */
import { admissionPage } from './admission-page.ts'
import { commandsPage } from './commands-page.ts'
import { errorsPage } from './errors-page.ts'
import { limitsPage } from './limits-page.ts'
import type { Page } from './markdown.ts'

export function referencePages(): Page[] {
  return [admissionPage(), commandsPage(), errorsPage(), limitsPage()]
}
