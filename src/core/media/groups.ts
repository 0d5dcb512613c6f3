/** The groups of media types that URLs and object keys name. */
export const MEDIA_GROUPS = ['image', 'video', 'audio', 'text', 'application'] as const

export type MediaGroup = (typeof MEDIA_GROUPS)[number]
