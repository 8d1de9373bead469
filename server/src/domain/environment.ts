/** The label of an API token and of each user group that it creates (specification 2.1). */
export const environments = ['Customer', 'Testing'] as const

export type Environment = (typeof environments)[number]
