/** What an API token, and each user group that it creates, is labelled with (specification 2.1). */
export const environments = ['Customer', 'Testing'] as const

export type Environment = (typeof environments)[number]
