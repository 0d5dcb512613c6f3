import { textPlugin } from './text.mts'

/** The first text. */
export default textPlugin('image-text', 'text')
