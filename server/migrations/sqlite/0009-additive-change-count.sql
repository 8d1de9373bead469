-- Counts the changes that can affect a cached response. A process that notices another process's write checks this count to find
-- out whether its cache is still valid. Most writes, such as an API token's last use, do not change it.
CREATE TABLE change_count (
  count INTEGER NOT NULL
) STRICT;
INSERT INTO change_count VALUES (0);

-- Insertions of user groups need no trigger: no response is cached before one exists, or after its deletion. Each change of a
-- schema or data source also changes the registry version.
CREATE TRIGGER user_group_update_counted AFTER UPDATE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER user_group_delete_counted AFTER DELETE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_insert_counted AFTER INSERT ON registry BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_update_counted AFTER UPDATE ON registry BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_delete_counted AFTER DELETE ON registry BEGIN UPDATE change_count SET count = count + 1; END;
