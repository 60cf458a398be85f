package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file is replaced by one of its own kind only; what is ours is named however
// its lines are written, as its reader takes it.
func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	page := "<!DOCTYPE html>\n" + `<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="">`
	ctrf, junit := "{\n  \"reportFormat\": \"CTRF\",\n  \"results\": {}\n}\n", "<?xml version=\"1.0\"?>\n<testsuites></testsuites>\n"
	for _, row := range []struct{ command, flag, name, content, says string }{
		{"check", "ctrf", "none", "", ""},
		{"check", "ctrf", "blank", " \n", ""},
		{"check", "ctrf", "c.json", ctrf, ""},
		{"check", "junit", "j.xml", junit, ""},
		{"check", "junit", "j.xml", ctrf, "is not JUnit XML"},
		{"check", "ctrf", "c.json", junit, "is not a report in the Common Test Report Format"},
		{"check", "ctrf", "key.pem", "-----BEGIN PRIVATE KEY-----\n", "would be lost"},
		{"check", "junit", "notes.txt", "notes\n", "would be lost"},
		{"report", "output", "p.html", page, ""},
		{"report", "output", "p.html", "<!doctype html><title>mine</title>", "is not a page of perfsweep"},
		{"report", "output", "p.svg", `<svg xmlns="x" class="chart" aria-label="a">`, ""},
		{"report", "output", "p.svg", `<svg xmlns="x"><path/>`, "is not a chart"},
		{"report", "output", "p.md", "## ✅ pass\n", ""},
		{"report", "output", "README.md", "# Mine\n", "would be lost"},
		{"report", "output", "p.csv", "concurrency_per_gpu,output\n", ""},
		{"report", "output", "p.csv", "a,b\n1,2\n", "is not a CSV of perfsweep"},
		{"report", "output", "p.json", "{\n  \"schema_version\": 1,\n  \"status\": \"knee\"\n}\n", ""},
		{"report", "output", "package.json", "{\n  \"name\": \"x\"\n}\n", "would be lost"},
		{"report", "output", "p.txt", "knee at 194 per GPU\n", ""},
		{"report", "output", "p.txt", "notes\n", "would be lost"},
		{"profile", "profile-export-prefix", "p.csv", "a,b\n", ""},
		{"check", "ctrf", "j", "{\"type\":\"campaign\"}\n", "there is a journal"},
		{"check", "ctrf", "j", "{\"type\": \"campaign\"}\r\n", "there is a journal"},
		{"check", "ctrf", "j", "\n{\"schema_version\":1,\"type\":\"campaign\"}\n", "there is a journal"},
		{"check", "ctrf", "j", "\ufeff\t{ \"type\" : \"campaign\"", "there is a journal"},
		{"check", "ctrf", "h", "{ \"series_sha256\": \"x\", \"schema_version\": 1}\n", "there is a history"},
		{"report", "output", "r.md", "{\"kind\": \"RecipeMixin\"}\n", "there is a recipe"},
		{"report", "output", "r.md", "kind:   'RecipeMetadata'\n", "there is a recipe"},
	} {
		path := filepath.Join(dir, row.name)
		if row.name != "none" {
			if err := os.WriteFile(path, []byte(row.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := replaceable(row.command, fileUse{row.flag, path, true})
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s --%s %s of %q: %v, want %q", row.command, row.flag, row.name, row.content, err, row.says)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "gone"), link); err != nil {
		t.Fatal(err)
	}
	if err := existing(fileUse{"ctrf", link, true}); err == nil || !strings.Contains(err.Error(), "points nowhere") {
		t.Errorf("a link to nothing: %v", err)
	}
}
