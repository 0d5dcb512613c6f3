import { textPlugin } from './text.mts'

/** The second text, over the ones before it. */
export default textPlugin('image-text-2', 'text2')
