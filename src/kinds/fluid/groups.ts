/** The groups, the version and the category of Fluid's kinds. */
export const DATA_GROUP = 'data.fluid.io'
export const WORKLOAD_GROUP = 'workload.fluid.io'
export const CATEGORIES = ['fluid'] as const
export const AGE_COLUMN = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' } as const
