/** The patches a server applies to an object it has: JSON patch, JSON merge patch, strategic merge patch. */
export { parseJsonPatch, parseObjectPatch } from './decode.ts'
export { applyJsonPatch } from './json-patch.ts'
export { applyMergePatch } from './merge-patch.ts'
export { applyStrategicMergePatch, formatObjectPatch } from './strategic-merge-patch.ts'
