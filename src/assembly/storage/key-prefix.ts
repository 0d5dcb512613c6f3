/** Prefix of all our keys in Redis. The braces put them on one node of a cluster, since each step is one script. */
export const keyPrefix = '{sluice}:'
