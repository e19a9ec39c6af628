/** What is generated about the program rather than its kinds: pages of docs/reference, access rules; `scripts/generate.mjs` writes them. */
import { accessFiles } from './access-rules.ts'
import { admissionPage } from './admission-page.ts'
import { commandsPage } from './commands-page.ts'
import { controllersPage } from './controllers-page.ts'
import { errorsPage } from './errors-page.ts'
import { limitsPage } from './limits-page.ts'
import type { Page } from './markdown.ts'
import { metricsPage } from './metrics-page.ts'

export function referencePages(): Page[] {
  return [admissionPage(), commandsPage(), controllersPage(), errorsPage(), limitsPage(), metricsPage(), ...accessFiles()]
}
