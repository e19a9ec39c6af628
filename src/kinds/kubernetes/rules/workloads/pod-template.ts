/** PodTemplates: a template stored on its own. */
import type { KindRules } from '../../../kind.ts'
import { raw } from '../fields.ts'
import { podOptions } from '../pod/options.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { templateOf, validatePodTemplate } from '../pod/template.ts'
import { podWarnings } from '../pod/warnings.ts'
import { beginGenerations, countGeneration, defaultTemplate, dropDisabledTemplateFields, hasNewGeneration } from './template-kind.ts'

export const podTemplateRules: KindRules = {
  applyDefaults: (object) => defaultTemplate(object),
  prepareForCreate(object) {
    beginGenerations(object)
    dropDisabledTemplateFields(object, undefined)
  },
  prepareForUpdate(object, old) {
    dropDisabledTemplateFields(object, old)
    countGeneration(object, old, !semanticEqual(raw(object, 'template'), raw(old, 'template'), 'template'))
  },
  validateCreate: (object) => validatePodTemplate('template', templateOf(object), podOptions(false, undefined)),
  validateUpdate: (object, old) => validatePodTemplate('template', templateOf(object), podOptions(false, templateOf(old))),
  warnings: (object, old) => (old === undefined || hasNewGeneration(object, old) ? podWarnings('template', templateOf(object)) : []),
}
