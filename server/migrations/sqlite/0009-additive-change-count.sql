-- How many changes there were that may be in an answer. A process that finds another one to have written learns by it whether what it remembers
-- still counts: most of what is written changes no answer, such as when an API token was last used.
CREATE TABLE change_count (
  count INTEGER NOT NULL
) STRICT;
INSERT INTO change_count VALUES (0);

-- A user group that is made anew was deleted before. A schema or data source is not changed without the version of its registry.
CREATE TRIGGER user_group_update_counted AFTER UPDATE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER user_group_delete_counted AFTER DELETE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_insert_counted AFTER INSERT ON registry BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_update_counted AFTER UPDATE ON registry BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_delete_counted AFTER DELETE ON registry BEGIN UPDATE change_count SET count = count + 1; END;
