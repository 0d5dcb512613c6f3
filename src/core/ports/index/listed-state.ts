/** The states of originals that are listed and counted. */
export type ListedState = 'stored' | 'trashed'
