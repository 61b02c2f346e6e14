package githubtest

import "fmt"

const when = "2026-11-30T01:02:03Z"

func api(format string, args ...any) string {
	return "https://api.github.com/" + fmt.Sprintf(format, args...)
}

// fullUser is a user as GET /user and comments show it.
func (s *Server) fullUser(login string) map[string]any {
	u := "users/" + login
	kind := "User"
	if len(login) > 5 && login[len(login)-5:] == "[bot]" {
		kind = "Bot"
	}
	return map[string]any{
		"login": login, "id": 41898282, "node_id": "U_1", "avatar_url": "https://avatars.githubusercontent.com/u/1", "gravatar_id": "",
		"url": api("%s", u), "html_url": "https://github.com/" + login, "followers_url": api("%s/followers", u),
		"following_url": api("%s/following{/other_user}", u), "gists_url": api("%s/gists{/gist_id}", u), "starred_url": api("%s/starred{/owner}{/repo}", u),
		"subscriptions_url": api("%s/subscriptions", u), "organizations_url": api("%s/orgs", u), "repos_url": api("%s/repos", u),
		"events_url": api("%s/events{/privacy}", u), "received_events_url": api("%s/received_events", u), "type": kind, "site_admin": false,
		"name": nil, "company": nil, "blog": nil, "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"user_view_type": "public", "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0, "created_at": when, "updated_at": when,
	}
}

func (s *Server) commentJSON(c *Comment) map[string]any {
	return map[string]any{
		"id": c.ID, "node_id": fmt.Sprintf("IC_%d", c.ID), "url": api("repos/%s/%s/issues/comments/%d", Owner, Repo, c.ID),
		"html_url": fmt.Sprintf("https://github.com/%s/%s/pull/%d#issuecomment-%d", Owner, Repo, c.Number, c.ID),
		"body":     c.Body, "user": s.fullUser(c.Login), "created_at": when, "updated_at": when,
		"issue_url": api("repos/%s/%s/issues/%d", Owner, Repo, c.Number), "author_association": "NONE",
	}
}

// repoJSON has of a repository what is required and little more.
func (s *Server) repoJSON(owner, name string) map[string]any {
	r := fmt.Sprintf("repos/%s/%s", owner, name)
	repo := map[string]any{
		"id": 1, "node_id": "R_1", "name": name, "full_name": owner + "/" + name, "owner": s.fullUser(owner), "private": false,
		"html_url": "https://github.com/" + owner + "/" + name, "description": nil, "fork": owner != Owner, "url": api("%s", r),
		"git_url": "git://github.com/x.git", "ssh_url": "git@github.com:x.git", "clone_url": "https://github.com/x.git", "svn_url": "https://github.com/x", "mirror_url": nil, "homepage": nil,
		"language": nil, "forks_count": 0, "stargazers_count": 0, "watchers_count": 0, "size": 0, "default_branch": "main", "open_issues_count": 0, "has_issues": true, "has_projects": true,
		"has_wiki": true, "has_pages": false, "has_downloads": true, "archived": false, "disabled": false, "pushed_at": when, "created_at": when, "updated_at": when,
		"license": nil, "forks": 0, "open_issues": 0, "watchers": 0, "has_discussions": false,
	}
	for _, list := range []string{"forks", "hooks", "events", "tags", "languages", "stargazers", "contributors", "subscribers", "subscription", "merges", "downloads", "deployments", "teams"} {
		repo[list+"_url"] = api("%s/%s", r, list)
	}
	for list, tail := range map[string]string{
		"keys": "{/key_id}", "collaborators": "{/collaborator}", "issue_events": "{/number}", "assignees": "{/user}", "branches": "{/branch}", "blobs": "{/sha}", "git_tags": "{/sha}",
		"git_refs": "{/sha}", "trees": "{/sha}", "statuses": "{sha}", "commits": "{/sha}", "git_commits": "{/sha}", "comments": "{/number}", "issue_comment": "{/number}", "contents": "{+path}",
		"compare": "{base}...{head}", "archive": "{archive_format}{/ref}", "issues": "{/number}", "pulls": "{/number}", "milestones": "{/number}", "notifications": "{?since}", "labels": "{/name}", "releases": "{/id}",
	} {
		repo[list+"_url"] = api("%s/%s%s", r, list, tail)
	}
	return repo
}

func (s *Server) pullJSON(p *Pull, full bool) map[string]any {
	base := p.BaseOwner
	if base == "" {
		base = Owner
	}
	u := fmt.Sprintf("repos/%s/%s/pulls/%d", base, Repo, p.Number)
	issue := fmt.Sprintf("repos/%s/%s/issues/%d", base, Repo, p.Number)
	href := func(path string) map[string]any { return map[string]any{"href": api("%s", path)} }
	end := func(owner, ref, sha string) map[string]any {
		return map[string]any{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": s.fullUser(owner), "repo": s.repoJSON(owner, Repo)}
	}
	pull := map[string]any{
		"url": api("%s", u), "id": int64(p.Number) + 1_000_000, "node_id": "PR_1", "html_url": fmt.Sprintf("https://github.com/%s/%s/pull/%d", base, Repo, p.Number),
		"diff_url": "https://github.com/x.diff", "patch_url": "https://github.com/x.patch", "issue_url": api("%s", issue), "commits_url": api("%s/commits", u),
		"review_comments_url": api("%s/comments", u), "review_comment_url": api("repos/%s/%s/pulls/comments{/number}", base, Repo), "comments_url": api("%s/comments", issue),
		"statuses_url": api("repos/%s/%s/statuses/%s", base, Repo, p.HeadSHA), "number": p.Number, "state": p.State, "locked": false, "title": "a change", "user": s.fullUser(p.HeadOwner),
		"body": nil, "labels": []any{}, "milestone": nil, "created_at": when, "updated_at": when, "closed_at": nil, "merged_at": nil, "merge_commit_sha": nil,
		"assignee": nil, "assignees": []any{}, "requested_reviewers": []any{}, "requested_teams": []any{}, "head": end(p.HeadOwner, p.Branch, p.HeadSHA), "base": end(base, "main", p.BaseSHA),
		"_links": map[string]any{"self": href(u), "html": href(u), "issue": href(issue), "comments": href(issue + "/comments"), "review_comments": href(u + "/comments"),
			"review_comment": href(u + "/comments{/number}"), "commits": href(u + "/commits"), "statuses": href(u)},
		"author_association": "NONE", "auto_merge": nil, "draft": false,
	}
	if full {
		for key, value := range map[string]any{
			"merged": false, "mergeable": true, "mergeable_state": "clean", "merged_by": nil, "comments": len(s.Comments), "review_comments": 0, "maintainer_can_modify": false,
			"commits": 1, "additions": 1, "deletions": 1, "changed_files": 1, "rebaseable": nil,
		} {
			pull[key] = value
		}
	}
	return pull
}

func (s *Server) checkJSON(c *CheckRun) map[string]any {
	var conclusion, completed any
	if c.Conclusion != "" {
		conclusion, completed = c.Conclusion, when
	}
	u := fmt.Sprintf("repos/%s/%s/check-runs/%d", Owner, Repo, c.ID)
	return map[string]any{
		"id": c.ID, "head_sha": c.HeadSHA, "node_id": "CR_1", "external_id": c.ExternalID, "url": api("%s", u), "html_url": "https://github.com/x", "details_url": "https://github.com/x",
		"status": c.Status, "conclusion": conclusion, "started_at": when, "completed_at": completed,
		"output": map[string]any{"title": c.OutputTitle, "summary": c.OutputSummary, "text": nil, "annotations_count": 0, "annotations_url": api("%s/annotations", u)},
		"name":   c.Name, "check_suite": map[string]any{"id": 5}, "app": nil, "pull_requests": []any{},
	}
}
