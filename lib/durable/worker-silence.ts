/** A worker that has not said anything for so many seconds is taken to be gone; heartbeats come every 2 s. */
export const silentSeconds = 6;
