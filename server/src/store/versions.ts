/** For how many revisions a user group's earlier versions are kept: a change that comes with every view must not fill the disk. */
export const revisionsKept = 100
