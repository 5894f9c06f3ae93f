/** Rows of a queue's past at most; more are said to be there. Apart, so that a page can name it without the schemas. */
export const momentRows = 500;
