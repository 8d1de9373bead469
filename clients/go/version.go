package usergroups

const version = "1.0.0-rc.1"
