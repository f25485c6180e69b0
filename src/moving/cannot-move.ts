/** What keeps a site where it is, for the person who moves it. */
export class CannotMove extends Error {}
