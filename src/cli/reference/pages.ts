/** What is generated about the program rather than its kinds: pages of docs/reference, access rules; `scripts/generate.mjs` writes them. */
import { ownKindsOf } from '../../composition.ts'
import { kindFiles } from '../../kinds/generated-files.ts'
import { MODULES } from '../../modules.ts'
import type { Module } from '../../runtime/module/module.ts'
import { accessFiles } from './access-rules.ts'
import { admissionPage } from './admission-page.ts'
import { commandsPage } from './commands-page.ts'
import { controllersPage } from './controllers-page.ts'
import { errorsPage } from './errors-page.ts'
import { limitsPage } from './limits-page.ts'
import type { Page } from './markdown.ts'
import { metricsPage } from './metrics-page.ts'

export const referencePages = (modules: readonly Module[] = MODULES): Page[] => [
  admissionPage(modules),
  commandsPage(modules),
  controllersPage(modules),
  errorsPage(),
  limitsPage(),
  metricsPage(modules),
  ...accessFiles(modules),
  ...kindFiles([...new Set([...ownKindsOf('hub', modules), ...ownKindsOf('member', modules)])]),
]
